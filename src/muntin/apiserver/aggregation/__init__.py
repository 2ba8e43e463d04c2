"""Aggregated API servers: group versions that other servers answer for, through this one.

An APIService with a Service names such a server. It is checked when anything about it changes and
each half minute, told apart in discovery, and requests for its group version are passed on to it
with the user's identity in headers. Without such APIServices nothing here costs anything.
Source: kube-aggregator v1.34 pkg/apiserver, pkg/controllers.
"""
