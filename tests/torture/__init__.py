"""What is done to a home on purpose, so that it is not done to one by accident.

    python -m tests.torture                     all parts in full: what `make torture` runs
    python -m tests.torture kills cuts --sample a sample of two of them: what `make test` runs
    python -m tests.torture kills --only note@7 one trial again, as a failure prints it

A part is a module. `TITLES` gives the rows of the table it fills, by the first word of its trials' names;
`trials(size)` lists the names of all trials of a size; `run(name, world)` carries one out in a world of its
own and returns what went wrong, nothing if all went well. A trial's name says everything about it, its seed
included, so that a failure can be repeated alone.
"""
