"""CNI plugins, one executable each."""
