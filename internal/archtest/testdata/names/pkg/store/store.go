package store // want `"pkg" says nothing`
