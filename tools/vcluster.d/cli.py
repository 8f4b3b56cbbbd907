"""The command line: reads arguments, calls the other modules, prints."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import launch
import system
from cluster import (DEFAULT_STORE, HALF_MADE, JOB_VARIABLE, NODE_VARIABLE, STORE_VARIABLE, UP, Cluster, Store,
                     parse_name, parse_rate, parse_size)
from errors import Failure, Unsupported, UsageError

DEFAULT_NAME = "weir"

EPILOG = f"""\
examples:
  vcluster check                                    can this machine do it?
  vcluster up 4x4 --rate 1gbit                      4 nodes of 4 slots, 1 Gbit/s each way
  vcluster run -n 16 -- ./prog args                 16 ranks, node after node
  vcluster run -n 16 --map-by node -- ./prog        round the nodes (options of Open MPI's mpirun)
  vcluster run -n 8 -ppn 2 -- ./prog                two a node (options of MPICH's mpirun)
  vcluster exec node2 -- ip address                 any command in one node
  vcluster status --json                            bytes sent and received by each node, processes
  vcluster up 2x8 --name fast --rate 10gbit         a second cluster beside the first
  vcluster run --name fast -- ./prog                on every slot of it
  vcluster down --all

exit codes: 0 success, 1 failure, 2 wrong usage, 77 this kernel or user cannot make clusters (the message says
why), 124 --timeout; `run` and `exec` pass on the exit code of what they ran, 128 + the number for a signal.
The state is kept in {DEFAULT_STORE}, or in the folder that {STORE_VARIABLE} names.
"""

RUN_USAGE = ("vcluster run [--name NAME] [-n RANKS] [--mpi openmpi|mpich] [--timeout SECONDS] [LAUNCHER OPTION...] "
             "-- PROGRAM [ARGUMENT...]")

RUN_HELP = f"""\
usage: {RUN_USAGE}

Runs an MPI program across the nodes: TCP at the cluster's rate between nodes, shared memory within one.

  --name NAME        the cluster (default: {DEFAULT_NAME})
  -n, -np RANKS      number of ranks (default: every slot); more than there are slots needs --oversubscribe
  --mpi LIBRARY      openmpi or mpich (default: the one PROGRAM is linked with; for scripts, that of `mpirun`)
  --timeout SECONDS  end the job, with exit code 124, if it takes longer

All other options go to the launcher as they are. The environment of this command reaches every rank.
A job ends with all its processes: on Ctrl-C, on SIGTERM, when `run` is killed, and on `vcluster down`.

examples:
  vcluster run -n 7 -- ./prog                                  7 ranks, node after node
  vcluster run -n 16 --map-by node --tag-output -- ./prog      Open MPI: round the nodes
  vcluster run -n 4 --map-by seq --hostfile order -- ./prog    Open MPI: rank i on the node in line i of a file
  vcluster run -n 8 -ppn 2 -- ./prog                           MPICH: two ranks a node
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().rstrip()}\n`{self.prog} --help` shows examples")


def parse_run(arguments: list[str]) -> tuple[str, launch.Job]:
    """By hand, since the options of launchers (`-np 4`, `-x VAR`, `-ppn 2`) are no argparse options."""
    if "--" not in arguments:
        raise UsageError(f"run: put `--` before the program\nusage: {RUN_USAGE}")
    split = arguments.index("--")
    words, program = arguments[:split], arguments[split + 1:]
    if not program:
        raise UsageError(f"run: no program after `--`\nusage: {RUN_USAGE}")
    own: dict[str, str] = {}
    launcher_options: list[str] = []
    rest = iter(words)
    for word in rest:
        option, has_value, value = word.partition("=")
        if option not in ("--name", "-n", "-np", "--np", "--mpi", "--timeout"):
            launcher_options.append(word)
            continue
        if not has_value and (value := next(rest, "")) == "":
            raise UsageError(f"run: {option} needs a value\nusage: {RUN_USAGE}")
        own["-n" if option in ("-np", "--np") else option] = value
    if (library := own.get("--mpi")) not in (None, *launch.LIBRARIES):
        raise UsageError(f"--mpi '{library}': expected {' or '.join(launch.LIBRARIES)}")
    job = launch.Job(program, _number(own, "-n", int), launch.LIBRARIES[library] if library else None,
                     tuple(launcher_options), _number(own, "--timeout", float))
    return parse_name(own.get("--name", DEFAULT_NAME)), job


def _number(own: dict[str, str], option: str, kind: Callable[[str], Any]) -> Any:
    if option not in own:
        return None
    try:
        number = kind(own[option])
    except ValueError:
        number = 0
    if not 0 < number < 10**9:  # also not a number
        raise UsageError(f"{option} '{own[option]}': expected a number above 0")
    return number


def make_parser() -> Parser:
    parser = Parser(prog="vcluster", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG,
                    description="A cluster of several nodes on one machine, made of network and UTS namespaces: "
                                "each node has\nits own host name and address, and a link of limited rate to a switch.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, action: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        sub.set_defaults(action=action)
        return sub

    def add_name(sub: argparse.ArgumentParser) -> None:
        sub.add_argument("--name", default=DEFAULT_NAME, help=f"the cluster (default: {DEFAULT_NAME})")

    up = add("up", do_up, "make a cluster")
    up.add_argument("size", metavar="NODESxSLOTS", help="such as 4x4: four nodes, four ranks on each")
    up.add_argument("--rate", default="1gbit",
                    help="of each node's link, in each direction: 100mbit, 1gbit, 2.5gbit, none (default: 1gbit)")
    add_name(up)
    commands.add_parser("run", help="run an MPI program across the nodes", add_help=False)
    execute = add("exec", do_exec, "run a command in one node")
    execute.add_argument("node", metavar="NODE", help="node2, 2 or the host name")
    add_name(execute)
    status = add("status", do_status, "show nodes, addresses, traffic and processes")
    status.add_argument("--json", action="store_true", help="for programs")
    add_name(status)
    listing = add("list", do_list, "list the clusters of this machine")
    listing.add_argument("--json", action="store_true", help="for programs")
    down = add("down", do_down, "end every process of a cluster and remove it; harmless if there is none")
    down.add_argument("--all", action="store_true", help="every cluster")
    add_name(down)
    add("check", do_check, "tell whether this machine can carry clusters")
    return parser


def do_up(options: argparse.Namespace) -> int:
    name, rate = parse_name(options.name), parse_rate(options.rate)
    nodes, slots = parse_size(options.size)
    _refuse_inside_a_node()
    system.require_support()
    store = Store.default()
    with store.locked():
        phase = store.phase(name)
        if phase == UP:
            raise Failure(f"cluster '{name}' is already up ({store.get(name).describe()}): "
                          f"use another --name, or `vcluster down --name {name}` first")
        if phase == HALF_MADE:
            print(f"vcluster: removing a half-made cluster '{name}' first", file=sys.stderr)
            store.remove(name)
        cluster = store.make(name, nodes, slots, rate)
    print(f"{name}: up, {cluster.describe()}")
    return 0


def do_run(arguments: list[str]) -> int:
    if arguments[:1] in (["--help"], ["-h"]):
        print(RUN_HELP, end="")
        return 0
    name, job = parse_run(arguments)
    return launch.run(_enterable(name), job)


def do_exec(options: argparse.Namespace) -> int:
    if not options.program:
        raise UsageError("exec: no command; usage: vcluster exec [--name NAME] NODE -- COMMAND [ARGUMENT...]")
    cluster = _enterable(parse_name(options.name))
    node = cluster.node(options.node)
    os.execv(cluster.enter, [str(cluster.enter), node.name, *options.program])


def _enterable(name: str) -> Cluster:
    if os.geteuid() != 0:
        raise Unsupported("root rights are missing: entering the nodes of a cluster needs them")
    store = Store.default()
    with store.locked():
        return store.get(name)


def do_status(options: argparse.Namespace) -> int:
    store = Store.default()
    with store.locked():
        cluster = store.get(parse_name(options.name))
        record = describe(cluster)
    if options.json:
        print(json.dumps(record, indent=1))
        return 0
    print(f"{cluster.name}: up, {cluster.describe()}")
    form = "{:<24} {:<15} {:>5} {:>15} {:>15} {:>9}"
    print(form.format("node", "address", "slots", "bytes sent", "bytes received", "processes"))
    for node in record["nodes"]:
        print(form.format(node["name"], node["address"], node["slots"], f"{node['bytes_sent']:,}",
                          f"{node['bytes_received']:,}", len(node["processes"])))
    return 0


def describe(cluster: Cluster) -> dict[str, Any]:
    return {
        "name": cluster.name,
        "phase": UP,
        "network": cluster.network,
        "rate_bits_per_second": cluster.rate,
        "slots_per_node": cluster.slots,
        "nodes": [{
            "name": node.name,
            "address": node.address,
            "slots": cluster.slots,
            "bytes_sent": node.counter("tx_bytes"),
            "bytes_received": node.counter("rx_bytes"),
            "processes": [{"pid": process.pid, "command": process.command_line(), "job": process.variable(JOB_VARIABLE)}
                          for process in system.processes_in([system.Namespace.of_file(node.network_file)])],
        } for node in cluster.nodes],
    }


def do_list(options: argparse.Namespace) -> int:
    store = Store.default()
    with store.locked():
        found = {name: store.find(name) for name in store.names()}
    if options.json:
        print(json.dumps([{"name": name, "phase": UP if cluster else HALF_MADE} for name, cluster in found.items()]))
        return 0
    for name, cluster in found.items():
        print(f"{name}: up, {cluster.describe()}" if cluster else
              f"{name}: half-made (an `up` or `down` was interrupted; `vcluster down --name {name}` removes it)")
    return 0


def do_down(options: argparse.Namespace) -> int:
    name = parse_name(options.name)
    store = Store.default()
    if not store.names():
        print("no clusters: nothing to do" if options.all else f"no cluster '{name}': nothing to do")
        return 0
    _refuse_inside_a_node()
    if os.geteuid() != 0:
        raise Unsupported("root rights are missing: removing a cluster needs them")
    with store.locked():
        for each in store.names() if options.all else [name]:
            phase = store.phase(each)
            store.remove(each)
            print(f"{each}: removed" + (" (it was half-made)" if phase == HALF_MADE else "") if phase else
                  f"no cluster '{each}': nothing to do")
    return 0


def do_check(_options: argparse.Namespace) -> int:
    system.require_support()
    print("clusters can be made here")
    for library in launch.LIBRARIES.values():
        found = library.launcher()
        print(f"{library.name}: {found[1] + ', ' + found[0] if found else 'not installed'}")
    return 0


def _refuse_inside_a_node() -> None:
    # Mounts made or removed in there would not reach the rest of the machine.
    if NODE_VARIABLE in os.environ:
        raise Failure(f"this is node {os.environ[NODE_VARIABLE]} of a cluster: make and remove clusters from outside")


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `up` and `down` tidy up on it as on Ctrl-C
    try:
        if arguments[:1] == ["run"]:
            return do_run(arguments[1:])
        program: list[str] = []
        if arguments[:1] == ["exec"] and "--" in arguments:
            split = arguments.index("--")
            arguments, program = arguments[:split], arguments[split + 1:]
        options = make_parser().parse_args(arguments)
        options.program = program
        return options.action(options)
    except Failure as failure:
        print(f"vcluster: {failure}", file=sys.stderr)
        return failure.exit_code
    except OSError as error:
        print(f"vcluster: {error.filename or Path.cwd()}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
