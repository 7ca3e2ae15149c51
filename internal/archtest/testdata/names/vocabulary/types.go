package types // want `"types" says nothing`
