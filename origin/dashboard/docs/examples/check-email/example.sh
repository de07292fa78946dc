curl -H "X-API-Key: $ADDRSPEC_KEY" \
  http://127.0.0.1:8080/v1/email/jane.doe+news@hotmial.com
