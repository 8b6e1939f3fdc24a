"""Tests, slow twins (`oracles`) and problems that know their own truth (`truths`)."""
