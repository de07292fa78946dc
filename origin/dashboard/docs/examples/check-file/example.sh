addrspec check --offline addresses.txt > facts.ndjson
