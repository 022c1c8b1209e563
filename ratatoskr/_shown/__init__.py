"""How the command line and the app show what they receive."""
