#!/usr/bin/env python3
"""IDs in Python, with the standard library alone."""
import http.client
import json
import os
import socket
import sys

SOCKET = os.environ.get("NEXT_ID_SOCKET", "/run/next-id/next-id.sock")


class NoId(Exception):
    """There is no sidecar, or it has no ID to give out now."""


class SocketConnection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(SOCKET)


def next_ids(count):
    connection = SocketConnection("localhost", timeout=5)
    try:
        connection.request("GET", f"/next-id?count={count}")
        response = connection.getresponse()
        answer = json.load(response)
    except (OSError, http.client.HTTPException) as error:
        raise NoId(f"no ID from {SOCKET}: {error}") from error
    finally:
        connection.close()
    if response.status != 200:
        raise NoId(f"no ID from {SOCKET}: {response.status} {answer['msg']}: {answer.get('error', '')}")
    return answer["data"]["ids"]


def next_id():
    return next_ids(1)[0]


if __name__ == "__main__":
    try:
        print("id", next_id())
        print("ids", *next_ids(3))
    except NoId as error:
        sys.exit(str(error))
