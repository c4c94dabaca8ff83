// Transcripts row by row, as Claude Code writes them.

/** The rows of a session of a project in `/home/dev/src`. `number` tells sessions apart. */
export class Transcript {
  constructor(number, project, began, { branch = 'main' } = {}) {
    this.id = `${String(number).padStart(8, '0')}-b0b0-4000-8000-000000000000`;
    this.cwd = `/home/dev/src/${project}`;
    this.folder = `-home-dev-src-${project.replace(/[^a-z0-9]/gi, '-')}`;
    this.branch = branch;
    this.at = Date.parse(began);
    this.count = 0;
    this.tools = 0;
    this.text = '';
  }

  row(row) {
    this.count += 1;
    this.at += 20_000;
    const uuid = `${this.id.slice(0, 24)}${String(this.count).padStart(12, '0')}`;
    const common = {
      sessionId: this.id, uuid, timestamp: new Date(this.at).toISOString(), cwd: this.cwd, gitBranch: this.branch, version: '2.1.197',
    };
    this.text += `${JSON.stringify({ ...common, ...row })}\n`;
    return this;
  }

  user(content) {
    return this.row({ type: 'user', message: { role: 'user', content } });
  }

  blocks(content) {
    const id = `msg_${this.id.slice(0, 8)}_${this.count}`;
    const usage = { input_tokens: 1200, output_tokens: 340, cache_read_input_tokens: 21_000 };
    return this.row({ type: 'assistant', message: { id, role: 'assistant', model: 'claude-haiku-4-5-20251001', content, usage } });
  }

  assistant(text) {
    return this.blocks([{ type: 'text', text }]);
  }

  /** A use of a tool with its outcome. */
  uses(name, input, outcome, failed = false) {
    this.tools += 1;
    const id = `toolu_${this.id.slice(0, 8)}_${this.tools}`;
    this.blocks([{ type: 'tool_use', id, name, input }]);
    return this.user([{ type: 'tool_result', tool_use_id: id, is_error: failed, content: outcome }]);
  }

  bash(command, outcome, failed) {
    return this.uses('Bash', { command, description: 'Do what was asked' }, outcome, failed);
  }

  /** Tasks of which none is done. */
  tasks(...subjects) {
    return this.uses('TodoWrite', { todos: subjects.map((content) => ({ content, status: 'pending', activeForm: content })) }, 'Todos have been modified');
  }

  /** What a hook told the session. */
  told(text) {
    const attachment = { type: 'hook_additional_context', content: [text], hookName: 'SessionStart:startup', toolUseID: 'SessionStart', hookEvent: 'SessionStart' };
    return this.row({ type: 'attachment', attachment });
  }

  /** The title that the client gives. */
  titled(title) {
    this.text += `${JSON.stringify({ type: 'ai-title', sessionId: this.id, aiTitle: title })}\n`;
    return this;
  }
}
