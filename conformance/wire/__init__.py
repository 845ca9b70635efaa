"""DNS messages as values and as text, one question and its reply on the wire, a scripted upstream."""
