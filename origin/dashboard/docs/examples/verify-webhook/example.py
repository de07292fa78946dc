import base64
import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verify(secret, headers, body):
    """Reports whether we signed a message with your secret, within the last five minutes."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message_id, timestamp = headers["webhook-id"] or "", headers["webhook-timestamp"] or ""
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False  # an old message, sent again by somebody else
    signed = f"{message_id}.{timestamp}.".encode() + body
    want = b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    signatures = (headers["webhook-signature"] or "").encode().split()
    return any(hmac.compare_digest(signature, want) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers["Content-Length"] or 0)
        body = self.rfile.read(min(size, 65536))
        if not verify(os.environ["WEBHOOK_SECRET"], self.headers, body):
            self.send_response(401)
        else:
            # A message may arrive twice. Skip it if you have seen its webhook-id before.
            print(self.headers["webhook-id"], body.decode(), flush=True)
            self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
