--TEST--
The setting addrspec.lists: an error names it, and the next call tries again
--EXTENSIONS--
addrspec
--INI--
addrspec.lists={PWD}/missing.blob
--FILE--
<?php
for ($n = 0; $n < 2; $n++) {
    try {
        Addrspec\check('jane@example.org');
    } catch (Addrspec\ListsException $e) {
        echo $e->getMessage(), "\n";
    }
}
var_dump(ini_set('addrspec.lists', ''));
(new ReflectionExtension('addrspec'))->info();
echo (new Addrspec\Checker())->check('jane@example.org')->domain, "\n";
?>
--EXPECTF--
addrspec.lists: %smissing.blob cannot be read
addrspec.lists: %smissing.blob cannot be read
bool(false)
%Aversions => the checker cannot be made%A
example.org
