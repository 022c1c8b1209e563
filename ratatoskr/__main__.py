"""The entry point of the command, for when what the command needs is not installed."""

import sys


def main() -> int:
    """Run the command and return its exit code."""
    try:
        from . import cli

        return cli.main()
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print(
            f"ratatoskr: the command needs {error.name}; install it with: "
            f"pip install 'ratatoskr-sse[app]'",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
