"""Assigns pods to nodes: filter, score, bind."""
