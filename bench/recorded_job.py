#!/usr/bin/env python3
"""What recording costs a whole job, its end included: jobs of random reads with and without `weir record`, by turns.

bench/recorded_job.py [--ranks 1] [--calls 1000000] [--bytes 4096] [--rounds 9] [--folder DIR] [--build build]

Prints medians with quartiles: the time of the reads, that of MPI_Finalize, and what recording adds to both as a share of the
reads' time. A control pairs runs that are both without.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--ranks", type=int, default=1)
parser.add_argument("--calls", type=int, default=1_000_000)
parser.add_argument("--bytes", type=int, default=4096)
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--folder", help="for the files; a temporary one unless given")
parser.add_argument("--build", default=os.path.join(root, "build"))
arguments = parser.parse_args()


def job(folder, recorded):
    words = ["mpirun", "-n", str(arguments.ranks), os.path.join(arguments.build, "bench", "recorded_job"), folder,
             str(arguments.calls), str(arguments.bytes)]
    if recorded:
        words = [os.path.join(arguments.build, "bin", "weir"), "record", "--quiet", "-o", os.path.join(folder, "recording"), "--"] + words
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode != 0:
        sys.exit(f"recorded_job.py: '{' '.join(words)}' ended with {done.returncode}")
    reads, end = map(float, done.stdout.split()[-2:])
    return reads, end


def shown(values, unit, digits):
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:8.{digits}f} {unit} ({low:.{digits}f} to {high:.{digits}f})"


with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
    job(folder, False)
    job(folder, True)
    rounds = []
    for number in range(arguments.rounds):
        kinds = [False, True, False] if number % 2 == 0 else [True, False, False]
        results = [(kind, job(folder, kind)) for kind in kinds]
        plain = [result for kind, result in results if not kind]
        recorded = next(result for kind, result in results if kind)
        rounds.append((plain[0], recorded, plain[1]))
        if sys.stderr.isatty():
            print(f"{number + 1} of {arguments.rounds}", end="\r", file=sys.stderr)

print(f"{arguments.ranks} ranks, {arguments.calls} random reads of {arguments.bytes} B each, {arguments.rounds} rounds")
print("reads without    ", shown([plain[0] for plain, _, _ in rounds], "s", 3))
print("reads recorded   ", shown([recorded[0] for _, recorded, _ in rounds], "s", 3))
print("end without      ", shown([plain[1] * 1e3 for plain, _, _ in rounds], "ms", 1))
print("end recorded     ", shown([recorded[1] * 1e3 for _, recorded, _ in rounds], "ms", 1))
reads = statistics.median(plain[0] for plain, _, _ in rounds)
print("end, recorded    ", shown([(recorded[1] - plain[1]) / reads * 100 for plain, recorded, _ in rounds], "% of the reads", 2))
for name, pairs in (("both, recorded", [(plain, recorded) for plain, recorded, _ in rounds]),
                    ("control", [(plain, again) for plain, _, again in rounds])):
    print(f"{name:<17}", shown([(sum(b) - sum(a)) / reads * 100 for a, b in pairs], "% of the reads", 2))
