// Runs in the editor: does what the files `ask-N.json` of the open folder say, one after the other, and writes `answer-N.json`.

const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const DOES = {
  /** What this editor lacks, and which tools of recall it lists. */
  look: async () => ({
    version: vscode.version,
    missing: ['registerTool', 'invokeTool', 'registerMcpServerDefinitionProvider'].filter((name) => typeof vscode.lm?.[name] !== 'function'),
    listed: (vscode.lm?.tools ?? []).map((tool) => tool.name).filter((name) => name.includes('recall')).sort(),
  }),
  tool: async ({ name, input }) => {
    const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    return { text: result.content.map((part) => part.value).join('') };
  },
  /** Begins it: a command that asks something ends only when it is answered. */
  command: async ({ id }) => {
    void vscode.commands.executeCommand(id);
    return {};
  },
  set: async ({ key, value }) => {
    await vscode.workspace.getConfiguration('recall').update(key, value, vscode.ConfigurationTarget.Global);
    return {};
  },
};

exports.activate = async () => {
  const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
  for (let number = 0; ; number += 1) {
    const ask = path.join(folder, `ask-${number}.json`);
    while (!existsSync(ask)) await new Promise((go) => setTimeout(go, 50));
    const asked = JSON.parse(readFileSync(ask, 'utf8'));
    const answer = await DOES[asked.does](asked).catch((error) => ({ error: error.message }));
    const file = path.join(folder, `answer-${number}.json`);
    writeFileSync(`${file}.new`, JSON.stringify(answer));
    renameSync(`${file}.new`, file);
  }
};
