--TEST--
The facts about an address, one and many, with details
--EXTENSIONS--
addrspec
--FILE--
<?php
$result = Addrspec\check('jane.doe+news@hotmial.com');
var_dump($result->valid, $result->localPart, $result->alias, $result->gibberishScore, $result->mx, $result->typoSuggestion, $result->refusal, $result->details);
echo $result->json, "\n";
var_dump(Addrspec\check('jane@hotmial.com', fullSuggestion: true)->typoSuggestion);
var_dump(Addrspec\check('jane@[192.0.2.1]')->mx);
$result = Addrspec\check('jane.@example.org', details: true);
var_dump($result->mx, $result->refusal, $result->details['refusal']['code'], $result->details['form']);
var_dump(json_decode($result->json, true) === $result->jsonSerialize(), json_decode(json_encode($result), true) == $result->jsonSerialize());
foreach (Addrspec\check_many(['first' => 'info@example.org', 7 => 'jane@']) as $key => $result) {
    var_dump($key, $result->role, $result->valid);
}
$email = 'a@b.example';
$emails = [&$email];
var_dump(Addrspec\check_many($emails)[0]->email, Addrspec\check_many([]));
var_dump(array_keys(Addrspec\versions()), Addrspec\versions() === (new Addrspec\Checker())->versions());
?>
--EXPECT--
bool(true)
string(13) "jane.doe+news"
bool(true)
float(0.01)
NULL
string(11) "hotmail.com"
NULL
NULL
{"email":"jane.doe+news@hotmial.com","valid":true,"normalized":"jane.doe+news@hotmial.com","local_part":"jane.doe+news","alias":true,"ascii":true,"role":null,"gibberish":false,"gibberish_score":0.01,"domain":"hotmial.com","mx":null,"disposable":false,"public":false,"relay":false,"typo":true,"typo_suggestion":"hotmail.com"}
string(16) "jane@hotmail.com"
bool(false)
bool(false)
object(Addrspec\Refusal)#3 (4) {
  ["code"]=>
  string(24) "local_part_ends_with_dot"
  ["offset"]=>
  int(4)
  ["section"]=>
  string(22) "RFC 5322 section 3.2.3"
  ["sentence"]=>
  string(41) "the local part ends with a dot; remove it"
}
string(24) "local_part_ends_with_dot"
array(0) {
}
bool(true)
bool(true)
string(5) "first"
string(7) "General"
bool(true)
int(7)
NULL
bool(false)
string(11) "a@b.example"
array(0) {
}
array(3) {
  [0]=>
  string(6) "engine"
  [1]=>
  string(5) "lists"
  [2]=>
  string(5) "model"
}
bool(true)
