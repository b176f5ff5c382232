-- Nothing to do: no version that knows no epochs serves beside one that does.

SELECT 1;
