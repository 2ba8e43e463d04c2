"""One pure file per controller: snapshot in, actions out."""
