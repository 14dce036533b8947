"""What editors ask about a program: an outline of its text that knows places, and a server that speaks to them."""
