"""The paper, reproduced: a file for each part measures, judges claims and writes sections.

To add a claim, add a function to the file of its part. To add a part, write a file with a `Part`
and list it in `parts`.
"""

from normalhedge.research.paper._part import QUICK as QUICK, PaperSettings as PaperSettings
from normalhedge.research.paper._parts import CHOICES as CHOICES
from normalhedge.research.paper._reproduce import redraw as redraw, reproduce as reproduce
