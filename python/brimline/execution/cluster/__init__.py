"""Owns performing a plan on several nodes: how they are reached, one clock, one start, one record.

`where` says which nodes are meant; `cluster` has them for a while, and performs plans on them as an executor. Each node
has a `node.NodeEngine` behind a `link`: an actor of Ray's, or a process. A `shared_run` follows all of them.
"""
