"""Reads a turn in an `asyncio.Protocol`: ten seconds to connect, sixty without a byte, no more.
Usage: python examples/asyncio_protocol.py URL"""

import asyncio
import sys

from show_turn import show

from ratatoskr_proto import Done, Event, RatatoskrError
from ratatoskr_transports import SseExchange


class TurnProtocol(asyncio.Protocol):
    def __init__(self, exchange: SseExchange) -> None:
        self.exchange = exchange
        self.loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[bool] = self.loop.create_future()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.transport = transport
        self.timer = self.loop.call_later(60.0, self.lose, "read timeout")
        while data := self.exchange.bytes_to_send():
            transport.write(data)

    def data_received(self, data: bytes) -> None:
        self.timer.cancel()
        self.timer = self.loop.call_later(60.0, self.lose, "read timeout")
        self.take(self.exchange.receive_data(data))

    def connection_lost(self, error: Exception | None) -> None:
        self.lose("reset" if error else "end of stream")

    def lose(self, reason: str) -> None:
        self.take(self.exchange.receive_eof(reason))

    def take(self, items: list[Event | RatatoskrError]) -> None:
        show(*items)
        if self.exchange.has_more:  # of this chunk; let others run in between
            self.loop.call_soon(lambda: self.take(self.exchange.next_items()))
        elif self.exchange.finished and not self.ended.done():
            self.timer.cancel()
            self.transport.abort()
            self.ended.set_result(isinstance(items[-1], Done))


async def main(url: str) -> bool:
    json = [("Content-Type", "application/json")]
    exchange = SseExchange("POST", url, headers=json, body=b'{"message": "Hello"}')
    connecting = asyncio.get_running_loop().create_connection(
        lambda: TurnProtocol(exchange), exchange.host, exchange.port, ssl=exchange.tls
    )
    try:
        _, protocol = await asyncio.wait_for(connecting, 10.0)
    except OSError:
        show(*exchange.receive_eof("unreachable"))
        return False
    return await protocol.ended


if __name__ == "__main__":
    sys.exit(not asyncio.run(main(sys.argv[1])))
