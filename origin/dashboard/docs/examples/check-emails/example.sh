curl -H "X-API-Key: $ADDRSPEC_KEY" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: $(openssl rand -hex 16)" \
  -d '{"emails": ["jane@example.org", "info@hotmial.com"]}' \
  http://127.0.0.1:8080/v1/emails
