-- +goose Up
-- The number of the newest commit (package mark): every transaction of the writer changes it.
CREATE TABLE mark (n INTEGER PRIMARY KEY CHECK (n = 1), row BLOB NOT NULL);

-- +goose Down
DROP TABLE mark;
