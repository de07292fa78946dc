--TEST--
A child of fork uses the checker of its parent, and one of its own
--EXTENSIONS--
addrspec
--SKIPIF--
<?php if (!function_exists('pcntl_fork')) die('skip pcntl is missing'); ?>
--FILE--
<?php
$checker = new Addrspec\Checker();
$before = Addrspec\check('jane@hotmial.com', true)->json;
for ($n = 0, $children = []; $n < 4; $n++) {
    $child = pcntl_fork();
    if ($child === 0) {
        $same = Addrspec\check('jane@hotmial.com', true)->json === $before && $checker->check('jane@hotmial.com', true)->json === $before;
        exit($same && (new Addrspec\Checker())->check('jane@hotmial.com', true)->json === $before ? 0 : 1);
    }
    $children[] = $child;
}
foreach ($children as $child) {
    pcntl_waitpid($child, $status);
    var_dump(pcntl_wexitstatus($status));
}
var_dump(Addrspec\check('jane@hotmial.com', true)->json === $before);
?>
--EXPECT--
int(0)
int(0)
int(0)
int(0)
bool(true)
