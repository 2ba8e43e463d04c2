"""The standard wires between components: protocols, clients, server helpers, fakes."""
