"""How the screen of the app is laid out, in Textual's CSS."""

CSS = """
Screen { layout: vertical; }
Transcript, #answer { height: 1fr; padding: 0 1; }
#answer { scrollbar-size-vertical: 1; }
#search { height: 1; border: none; padding: 0 1; }
#status { height: 1; padding: 0 1; background: $panel; color: $text-muted; }
#status { text-wrap: nowrap; text-overflow: ellipsis; }
.-short MessageInput { border: none; max-height: 2; padding: 0 1; }
.-narrow.-tall KeyBar { height: 4; }
ModalScreen VerticalScroll { height: 1fr; padding: 1 2; scrollbar-size-vertical: 1; }
.-narrow ModalScreen VerticalScroll { padding: 0 1; }
"""
