"""Lists, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Generic, Protocol, TypeVar

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class PagePosition(Protocol):
    """The position of a page in its list."""

    @property
    def next_cursor(self) -> str | None: ...


class Page(Protocol[Item_co]):
    """A page of a list."""

    @property
    def data(self) -> list[Any]: ...

    @property
    def page(self) -> PagePosition: ...


class Pages(Generic[Item]):
    """A list: iterating over it loads its pages one after the other."""

    def __init__(self, load: Callable[[str | None], Any]) -> None:
        self._load = load

    def by_page(self) -> Iterator[Any]:
        """Iterates over the pages."""
        cursor: str | None = None
        while True:
            page = self._load(cursor)
            yield page
            cursor = page.page.next_cursor
            if cursor is None:
                return

    def __iter__(self) -> Iterator[Item]:
        for page in self.by_page():
            yield from page.data


class AsyncPages(Generic[Item]):
    """A list: iterating over it loads its pages one after the other."""

    def __init__(self, load: Callable[[str | None], Awaitable[Any]]) -> None:
        self._load = load

    async def by_page(self) -> AsyncIterator[Any]:
        """Iterates over the pages."""
        cursor: str | None = None
        while True:
            page = await self._load(cursor)
            yield page
            cursor = page.page.next_cursor
            if cursor is None:
                return

    async def __aiter__(self) -> AsyncIterator[Item]:
        async for page in self.by_page():
            for item in page.data:
                yield item
