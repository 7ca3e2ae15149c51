package sqlite

import _ "modernc.org/sqlite"
