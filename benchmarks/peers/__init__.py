"""Owns the comparison with other load generators: same work, same server, alternating, each on a core of its own.

settings    what is measured, how long, on which cores
catalogue   the peers and how each is started
builds      making their programs with Maven and Cargo
processes   one client process: pinned, followed, ended; CPU time and memory of it
server      the mongod under all of them: data, counters, profiler
commands    pure: what the profiler saw, in words
measuring   one run of one client
rounds      pure: who runs after whom
figures     pure: medians, ratios, spreads
targets     pure: what the ratios have to be
results     results.json: its form, written and read
page        pure: BENCHMARKS.md from the results
"""
