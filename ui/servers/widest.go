package servers

// widest is how wide the panels are at most: columns that are far apart are not read as a row.
const widest = 140
