--TEST--
Errors, hostile input, and what nobody may do with the objects
--EXTENSIONS--
addrspec
--FILE--
<?php
declare(strict_types=1);

function show(callable $call): void
{
    try {
        var_dump($call());
    } catch (Throwable $e) {
        echo get_class($e), ' ', $e->getCode(), ': ', $e->getMessage(), "\n";
    }
}

$checker = new Addrspec\Checker();
show(fn () => Addrspec\check("jane\0@example.org")->refusal->code);
show(fn () => $checker->check("\xff\xfe@example.org")->refusal->code);
show(fn () => json_validates(Addrspec\check("\xff\x00\"\\\n@\xc3")));
show(fn () => Addrspec\check(str_repeat('a', 1 << 20))->refusal->code);
show(fn () => Addrspec\check(str_repeat('a', 2 << 20)));
show(fn () => Addrspec\check_many(['jane@example.org', str_repeat('a', 2 << 20)]));
show(fn () => Addrspec\decide('{}', str_repeat('a', 2 << 20)));
show(fn () => Addrspec\check('')->refusal->code);
show(fn () => Addrspec\check(null));
show(fn () => Addrspec\check(7));
show(fn () => Addrspec\check_many(['jane@example.org', null]));
show(fn () => Addrspec\check_many('jane@example.org'));
show(fn () => $checker->loadLists(''));
show(fn () => $checker->loadLists('damaged'));
show(fn () => $checker->loadLists(str_repeat("\0", (4 << 20) + 1)));
show(fn () => new Addrspec\Checker('damaged'));
show(fn () => (new ReflectionClass('Addrspec\Checker'))->newInstanceWithoutConstructor());
show(fn () => clone $checker);
show(fn () => serialize($checker));
show(fn () => unserialize('O:16:"Addrspec\Checker":0:{}'));
show(fn () => new Addrspec\Result());
show(fn () => Addrspec\check('jane@example.org')->valid = false);
show(fn () => unserialize(serialize($r = Addrspec\check('jane@', details: true))) == $r);
show(fn () => unserialize('O:15:"Addrspec\Result":0:{}')->jsonSerialize());
show(fn () => unserialize('O:15:"Addrspec\Result":1:{s:4:"json";s:1:"{";}')->jsonSerialize());
show(fn () => unserialize('O:15:"Addrspec\Result":1:{s:4:"json";i:7;}'));
show(fn () => $checker->check('jane@example.org')->valid);

function json_validates(Addrspec\Result $result): bool
{
    return is_array(json_decode($result->json, true, flags: JSON_THROW_ON_ERROR));
}
?>
--EXPECTF--
string(17) "control_character"
string(14) "malformed_utf8"
bool(true)
string(16) "address_too_long"
Addrspec\Exception 2: the address has more than 1 MiB
Addrspec\Exception 2: the address has more than 1 MiB
Addrspec\Exception 2: the address has more than 1 MiB
string(5) "empty"
TypeError 0: Addrspec\check(): Argument #1 ($email) must be of type string, null given
TypeError 0: Addrspec\check(): Argument #1 ($email) must be of type string, int given
TypeError 0: Addrspec\check_many(): Argument #1 ($emails) must be an array of strings, null given
TypeError 0: Addrspec\check_many(): Argument #1 ($emails) must be of type array, string given
ValueError 0: Addrspec\Checker::loadLists(): Argument #1 ($blob) cannot be empty
Addrspec\ListsException 4: the lists were refused: %s
Addrspec\ListsException 4: the lists are larger than 4 MiB
Addrspec\ListsException 4: the lists were refused: %s
ReflectionException 0: Class Addrspec\Checker is an internal class marked as final that cannot be instantiated without invoking its constructor
Error 0: Trying to clone an uncloneable object of class Addrspec\Checker
Exception 0: Serialization of 'Addrspec\Checker' is not allowed
Exception 0: Unserialization of 'Addrspec\Checker' is not allowed
Error 0: Call to private Addrspec\Result::__construct() from %s
Error 0: Cannot modify readonly property Addrspec\Result::$valid
bool(true)
NULL
NULL
TypeError 0: Cannot assign int to property Addrspec\Result::$json of type string
bool(true)
