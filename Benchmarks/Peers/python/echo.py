#!/usr/bin/python3
"""Python's websockets: the client of the scenarios about web sockets, and, as `serve`, an echo for all clients."""

import asyncio
import json
import resource
import sys
import time
import urllib.parse

try:
    import websockets
except ImportError:
    print("not supported: python3-websockets is not installed", file=sys.stderr)
    sys.exit(69)


def memory(name):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(name + ":"):
                return int(line.split()[1])
    return 0


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def serve():
    # Nothing is compressed, and no message is too long.
    async with websockets.serve(echo, "127.0.0.1", 0, compression=None, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


async def transfer(url, count):
    size = int(urllib.parse.urlsplit(url).query)
    message = b"x" * size
    async with websockets.connect(url, compression=None, max_size=None) as socket:

        async def send():
            for _ in range(count):
                await socket.send(message)

        sending = asyncio.create_task(send())
        received = 0
        for _ in range(count):
            received += len(await socket.recv())
        await sending
    return received


def measure(url, count):
    base = memory("VmRSS")
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.monotonic()
    received = asyncio.run(transfer(url, count))
    elapsed = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "client": "Python websockets " + websockets.__version__, "requests": count, "bytes": received, "errors": 0,
        "wall_s": elapsed, "user_s": after.ru_utime - before.ru_utime, "sys_s": after.ru_stime - before.ru_stime,
        "base_rss_kib": base, "rss_kib": memory("VmRSS"), "max_rss_kib": memory("VmHWM"),
        "threads": memory("Threads"),
    }))


def main():
    words = sys.argv[1:]
    if words == ["serve"]:
        asyncio.run(serve())
        return
    if not words or words[0] != "websocket":
        print("not supported: " + (words[0] if words else "nothing"), file=sys.stderr)
        sys.exit(69)
    options = dict(zip(words[1::2], words[2::2]))
    url = options.get("--url", "").replace("http:", "ws:", 1)
    measure(url, int(options.get("--requests", "1")))


main()
