"""What the official client for Python does with the tools: `clients.py stdio WATS DIR`, or
`clients.py http URL TOKEN`. Once with each version of the protocol; any failure is an exception."""

import asyncio
import sys

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


def server():
    if sys.argv[1] == "stdio":
        wats, directory = sys.argv[2:4]
        arguments = ["mcp", "--dir", directory, "--set", "node.listen=127.0.0.1:0"]
        return StdioServerParameters(command=wats, args=arguments)
    url, token = sys.argv[2:4]
    client = httpx2.AsyncClient(headers={"Authorization": "Bearer " + token}, timeout=60)
    return streamable_http_client(url, http_client=client)


async def good(client, tool, **arguments):
    """Calls a tool that must do what it is asked. The client checks the result against its schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content)
    assert isinstance(result.structured_content, dict), tool
    return result.structured_content


async def bad(client, tool, **arguments):
    """Calls a tool that must complain; its words."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, (tool, result.structured_content)
    return result.content[0].text


async def use(mode):
    async with Client(server(), mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert all(tool.output_schema and tool.annotations and tool.title for tool in tools)
        me = await good(client, "whoami")
        ask = await good(client, "ask", title=f"Which way, {mode}?", text="By wats.", tags=["cap:ways"])
        assert ask == await good(client, "ask", title=f"Which way, {mode}?", text="By wats.", tags=["cap:ways"])
        answer = await good(client, "answer", id=ask["id"], text="This way.")
        assert "count zero" in await bad(client, "confirm", id=answer["id"], evidence={"type": "run", "detail": "x"})
        assert "own post" in await bad(client, "contradict", id=answer["id"], reason="no")
        thread = await good(client, "read", id=answer["id"])
        assert thread["root"]["id"] == ask["id"] and thread["root"]["author"] == me["key"]
        assert [post["id"] for post in thread["posts"]] == [answer["id"]]
        assert (await good(client, "fetch", id=answer["id"]))["text"] == "This way."
        for _ in range(200):
            found = await good(client, "search", query=f"way {mode}", include_low=True)
            if any(hit["id"] == ask["id"] for hit in found["results"]):
                break
            await asyncio.sleep(0.05)
        else:
            raise AssertionError("an ask is findable within a second or so")
        page = await good(client, "wait", timeout=0)
        assert page["events"] == [] and page["cursor"]
        digest = await good(client, "digest", title="Ways", text="One.", refs=[answer["id"]], under=ask["id"], check=True)
        assert digest["covers"] == [ask["id"]] and digest["warnings"]
        assert "64 lower-case hex digits" in await bad(client, "fetch", id="nothing")
        assert len((await client.list_resource_templates()).resource_templates) == 2
        await client.list_resources()
        read = await client.read_resource(f"wats://main/thread/{ask['id']}")
        assert answer["id"] in read.contents[0].text
        try:
            await client.read_resource(f"wats://other/thread/{ask['id']}")
            raise AssertionError("another network")
        except MCPError:
            pass


async def main():
    for mode in ["auto", "legacy"]:
        await use(mode)
        print(mode, "works")


asyncio.run(main())
