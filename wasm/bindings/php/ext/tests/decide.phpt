--TEST--
The verdict of a policy, and the place in a document that is none
--EXTENSIONS--
addrspec
--FILE--
<?php
$policy = '{"block": {"reasons": ["disposable", "no_mx"]}, "review": {"reasons": ["role"]}}';
foreach ([[], ['mx' => false], ['mx' => true], ['disposable' => true]] as $found) {
    $verdict = Addrspec\decide($policy, 'info@example.org', ...$found);
    echo $verdict->json, " $verdict->action $verdict->reason $verdict->rule\n";
}
echo json_encode(Addrspec\decide('{}', 'jane@example.org', addressRecord: true)), "\n";
$mailboxes = '{"block": {"addresses": ["j.doe@gmail.com"], "exchanges": ["*.burner.example"]}}';
echo Addrspec\decide($mailboxes, 'JDoe+x@googlemail.com')->rule, "\n";
foreach ([[], ['mx.burner.example'], ['mx.burner.example', 'mx.example.org']] as $exchanges) {
    echo Addrspec\decide($mailboxes, 'jane@example.org', exchanges: $exchanges)->json, "\n";
}
foreach ([["mx.burner.example\0", 'mx.example.org'], array_fill(0, 9000, 'mx.example'), [new stdClass()]] as $exchanges) {
    try {
        Addrspec\decide('{}', 'jane@example.org', exchanges: $exchanges);
    } catch (Throwable $e) {
        echo get_class($e), " {$e->getMessage()}\n";
    }
}
// More policies than a checker remembers.
for ($n = 0; $n < 40; $n++) {
    $checker ??= new Addrspec\Checker();
    $blocked = sprintf('{"block": {"domains": ["host%d.example"]}}', $n % 20);
    if ($checker->decide($blocked, 'jane@host' . $n % 20 . '.example')->action !== 'block') echo "not blocked by $n\n";
}
foreach (['{"block": {"reasons": ["role", "disposible"]}}', '{"blok": {}}', '', str_repeat(' ', 3 << 20)] as $document) {
    try {
        Addrspec\decide($document, 'jane@example.org');
    } catch (Addrspec\PolicyException $e) {
        echo get_parent_class($e), " {$e->getCode()} '$e->place' {$e->getMessage()}\n";
    }
}
?>
--EXPECTF--
{"action":"review","reason":"role","rule":"review.reasons[0]"} review role review.reasons[0]
{"action":"block","reason":"no_mx","rule":"block.reasons[1]"} block no_mx block.reasons[1]
{"action":"review","reason":"role","rule":"review.reasons[0]"} review role review.reasons[0]
{"action":"block","reason":"disposable","rule":"block.reasons[0]"} block disposable block.reasons[0]
{"action":"allow","reason":null,"rule":null}
block.addresses[0]
{"action":"allow","reason":null,"rule":null}
{"action":"block","reason":"exchange","rule":"block.exchanges[0]"}
{"action":"allow","reason":null,"rule":null}
ValueError Addrspec\decide(): Argument #6 ($exchanges) must not contain any null bytes
Addrspec\Exception the exchanges have more than 64 KiB
Error Object of class stdClass could not be converted to string
Addrspec\Exception 5 'block.reasons[1]' block.reasons[1]: "disposible" is no reason; did you mean "disposable"?
Addrspec\Exception 5 'the document' the document: "blok" is no member of a policy; did you mean "block"?
Addrspec\Exception 5 'line 1, column 1' line 1, column 1: the document ends where an object is expected
Addrspec\Exception 5 '' the policy has more than %d bytes
