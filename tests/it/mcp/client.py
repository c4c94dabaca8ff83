"""Lets the `mcp` package's own client talk to a server: prints one JSON object a step.

The steps come as JSON on stdin: {"command", "args", "env", "cwd", "steps": [[method, arguments…]…]}. The client itself checks that
structured answers fit the schemas that the server told.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

METHODS = {"list_tools", "list_resources", "list_prompts", "list_resource_templates", "call_tool", "read_resource", "get_prompt", "send_ping"}


async def take(session, method, arguments):
    if method not in METHODS:
        raise SystemExit(f"no step: {method}")
    try:
        result = await getattr(session, method)(*arguments)
    except Exception as error:  # What the client makes of an answer it does not take, or of an error of the protocol.
        return {"raised": type(error).__name__, "why": str(error)}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    asked = json.load(sys.stdin)
    server = StdioServerParameters(command=asked["command"], args=asked["args"], env=asked["env"], cwd=asked["cwd"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        told = await session.initialize()
        print(json.dumps(told.model_dump(mode="json", by_alias=True, exclude_none=True)), flush=True)
        for method, *arguments in asked["steps"]:
            print(json.dumps(await take(session, method, arguments)), flush=True)
        all_at_once = [session.call_tool("status", {}) for _ in range(20)]
        print(json.dumps({"at_once": sum(not result.is_error for result in await asyncio.gather(*all_at_once))}), flush=True)


asyncio.run(main())
