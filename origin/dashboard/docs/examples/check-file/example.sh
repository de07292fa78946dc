addrspec check addresses.txt > facts.ndjson
