// Offers `recall mcp` as an MCP server. The API came with VS Code 1.101, after the oldest version that this extension runs in; forks may lack it.

import * as vscode from 'vscode';
import { currentFolder } from './folder';
import type { Recall } from './recall';

/** The part of the API that is used here, as `vscode.d.ts` of 1.101 declares it. */
interface McpApi {
  lm?: {
    registerMcpServerDefinitionProvider?(id: string, provider: McpProvider): vscode.Disposable;
  };
  McpStdioServerDefinition?: new (label: string, command: string, args?: string[]) => McpServer;
}

interface McpServer {
  cwd?: vscode.Uri;
}

interface McpProvider {
  onDidChangeMcpServerDefinitions?: vscode.Event<void>;
  provideMcpServerDefinitions(): Promise<McpServer[]>;
}

/** `changed` fires when another program may be the one to start. Registers nothing in an editor that has no such API. */
export function registerMcpServer(recall: Pick<Recall, 'usable'>, changed: vscode.Event<void>): vscode.Disposable {
  const api = vscode as unknown as McpApi;
  const Server = api.McpStdioServerDefinition;
  if (typeof api.lm?.registerMcpServerDefinitionProvider !== 'function' || !Server) return vscode.Disposable.from();
  return api.lm.registerMcpServerDefinitionProvider('recall.mcp', {
    onDidChangeMcpServerDefinitions: changed,
    async provideMcpServerDefinitions() {
      // Without a program there is no server; the views say what is missing.
      const program = await recall.usable().catch(() => undefined);
      if (program === undefined) return [];
      const server = new Server('recall', program, ['mcp']);
      const folder = currentFolder();
      if (folder !== undefined) server.cwd = vscode.Uri.file(folder);
      return [server];
    },
  });
}
