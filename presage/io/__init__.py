"""Facts in and answers out: the formats people have their data in."""
