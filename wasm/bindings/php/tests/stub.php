<?php

// Prints what is in the namespace Addrspec: of the extension or, with a file, of the stub.
if ($argc > 1) {
    require $argv[1];
}
$ours = fn (array $names) => array_filter($names, fn (string $name) => str_starts_with(strtolower($name), 'addrspec\\'));
$functions = get_defined_functions();
$names = array_map(strtolower(...), array_values($ours([...$functions['internal'], ...$functions['user']])));
sort($names);
foreach ($names as $name) {
    echo signature(new ReflectionFunction($name)), "\n";
}
$classes = array_values($ours(get_declared_classes()));
sort($classes);
foreach ($classes as $class) {
    describe(new ReflectionClass($class));
}

function signature(ReflectionFunctionAbstract $function): string
{
    $parameters = array_map(function (ReflectionParameter $p) {
        return $p->getType() . ' $' . $p->getName() . ($p->isOptional() ? ' = ' . var_export($p->getDefaultValue(), true) : '');
    }, $function->getParameters());
    return $function->getName() . '(' . implode(', ', $parameters) . '): ' . $function->getReturnType();
}

function describe(ReflectionClass $class): void
{
    echo implode(' ', Reflection::getModifierNames($class->getModifiers())), ' ', $class->getName(), ' extends ', $class->getParentClass() ?
        $class->getParentClass()->getName() : 'nothing', ' implements ', implode(', ', $class->getInterfaceNames()), "\n";
    foreach ($class->getProperties() as $property) {
        if ($property->getDeclaringClass() == $class) {
            echo '  ', implode(' ', Reflection::getModifierNames($property->getModifiers())), " {$property->getType()} {$property->getName()}\n";
        }
    }
    foreach ($class->getMethods() as $method) {
        if ($method->getDeclaringClass() == $class) {
            echo '  ', implode(' ', Reflection::getModifierNames($method->getModifiers())), ' ', signature($method), "\n";
        }
    }
}
