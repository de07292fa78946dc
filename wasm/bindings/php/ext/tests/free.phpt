--TEST--
A checker is freed with its object, and nothing remains of checks and errors
--EXTENSIONS--
addrspec
--SKIPIF--
<?php if (!is_readable('/proc/self/status')) die('skip the memory of a process is in /proc'); ?>
--FILE--
<?php
function megabytes(): float
{
    preg_match('/VmRSS:\s+(\d+)/', file_get_contents('/proc/self/status'), $match);
    return $match[1] / 1024;
}

function work(int $times): void
{
    for ($n = 0; $n < $times; $n++) {
        (new Addrspec\Checker())->checkMany(['jane@example.org', 'jane@', str_repeat('a', 100000)], details: true);
        try {
            new Addrspec\Checker('damaged');
        } catch (Addrspec\ListsException) {
        }
    }
}

work(5);
$before = megabytes();
work(50); // 100 checkers, of 2.7 MB each
var_dump(megabytes() - $before < 60);
?>
--EXPECT--
bool(true)
