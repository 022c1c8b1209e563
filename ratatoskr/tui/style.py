"""How the screen of the app is laid out, in Textual's CSS."""

CSS = """
Screen { layout: vertical; }
.-short MessageInput { border: none; max-height: 2; padding: 0 1; }
.-narrow.-tall KeyBar { height: 4; }
ModalScreen VerticalScroll { height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
.-narrow ModalScreen VerticalScroll { padding: 0 1; }
"""
