"""Passes a TCP port of the sandbox's own loopback on to a unix socket: `forwarder.py SOCKET PORT [-- COMMAND …]`.

With a command it ends with it, and with its exit code.
"""

import contextlib
import os
import socket
import subprocess
import sys
import threading


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def serve(client, path):
    upstream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        upstream.connect(path)
        back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
        back.start()
        pump(client, upstream)
        back.join()
    except OSError:
        pass
    finally:
        upstream.close()
        client.close()


def accept(listener, path):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, path), daemon=True).start()


def main(arguments):
    path, port, command = arguments[0], int(arguments[1]), arguments[3:]
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    if not command:
        accept(listener, path)
    threading.Thread(target=accept, args=(listener, path), daemon=True).start()
    code = subprocess.call(command)
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


if __name__ == "__main__":
    main(sys.argv[1:])
