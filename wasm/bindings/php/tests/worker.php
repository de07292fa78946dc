<?php

// What php-fpm runs: the body has addresses that end with a zero byte. The response is a line
// with the worker's process, before the body is read, and then a line of JSON for each address.

header('Content-Type: text/plain');
echo getmypid(), "\n";
flush();
foreach (Addrspec\check_many(explode("\0", rtrim(file_get_contents('php://input'), "\0"))) as $result) {
    echo $result->json, "\n";
}
