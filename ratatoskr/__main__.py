"""The entry point of the command.

It says what to install when something is missing, and ends on Ctrl-C while it is being imported.
"""

import sys

_OF_THE_EXTRA = ("anyio", "click", "h11", "httpx", "rich", "textual")


def main() -> int:
    """Run the command and return its exit code."""
    try:
        from . import cli

        return cli.main()
    except KeyboardInterrupt:  # while the modules were being imported
        print("ratatoskr: interrupted", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        if error.name not in _OF_THE_EXTRA:
            raise
        print(
            f"ratatoskr: the command needs {error.name}; install it with: "
            f"pip install 'ratatoskr-sse[app]'",
            file=sys.stderr,
        )
        return 2


if __name__ == "__main__":
    sys.exit(main())
