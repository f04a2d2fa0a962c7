import pytest
from pathlib import Path
from tests.factories import *
from graph.exporting.export import export_graph
@pytest.mark.django_db
def test_y(project, tmp_path):
    from graph.exporting.restore import import_graph
    a=make_node(project,"slack:C1:1.0","Hello *x*",tags=["b","#c"]); b=make_node(project,"b","second",title="B")
    make_edge(a,b); make_review_item(project,a)
    export_graph(project,tmp_path/"out")
    two=make_project("acme/two")
    print(import_graph(two,tmp_path/"out"))
    export_graph(two,tmp_path/"out2")
    import subprocess
    r=subprocess.run(["diff","-r",tmp_path/"out",tmp_path/"out2"],capture_output=True,text=True).stdout
    print(r)
    assert not r
    assert import_graph(two,tmp_path/"out2").already
