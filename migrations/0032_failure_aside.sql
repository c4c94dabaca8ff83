-- Of an output, also the lines that say less about its error than others: they are found, and not counted.
ALTER TABLE failure ADD COLUMN aside INTEGER NOT NULL DEFAULT 0;
