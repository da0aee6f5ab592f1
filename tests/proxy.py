"""An outage that can be made and ended: a TCP relay on loopback in front of a server."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self


class Relay:
    """Passes bytes on to a server, from a port that stays the same whether the way is open or cut.

    Use it as a context manager. It begins open.

    Args:
        port: The server's port on loopback.
    """

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener: socket.socket | None = None
        self._flowing = threading.Event()
        self.port = 0

    def __enter__(self) -> Self:
        self.restore()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()
        for thread in self._threads:
            thread.join()

    def restore(self) -> None:
        """Open the way, after it was cut: new connections are passed on."""
        self._flowing.set()
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen()
        self.port = listener.getsockname()[1]
        self._listener = listener
        self._start(self._accept, listener)

    def cut(self) -> None:
        """Cut the way: open connections end and new ones are refused, as if the server had stopped."""
        self._flowing.set()
        if self._listener:
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
            self._listener.close()
            self._listener = None
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for end in sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def stall(self) -> None:
        """Take connections and bytes, and pass nothing on: a network that swallows packets, until it is cut."""
        self._flowing.clear()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return  # cut
            try:
                server = socket.create_connection(self._target, timeout=5)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            self._relay(client, server)

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        with self._lock:
            self._sockets |= {client, server}
        done = threading.Barrier(2)
        for source, sink in ((client, server), (server, client)):
            self._start(self._pump, source, sink, done)

    def _pump(self, source: socket.socket, sink: socket.socket, done: threading.Barrier) -> None:
        with suppress(OSError):
            while chunk := source.recv(65_536):
                self._flowing.wait()
                sink.sendall(chunk)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)
        done.wait()  # neither closes a socket that the other still reads
        with self._lock:
            self._sockets.discard(source)
        source.close()

    def _start(self, target: object, *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()
