% Crates of many volumes and densities, and two end tables, which weigh 5.
type(table1,endtable). type(table2,endtable).
type(crate1,box). volume(crate1,10). density(crate1,2.5).
type(crate2,box). volume(crate2,10). density(crate2,1.0).
type(crate3,box). volume(crate3,3). density(crate3,2.5).
type(crate4,box). volume(crate4,3). density(crate4,0.2).
type(crate5,box). volume(crate5,5). density(crate5,0.4).
type(crate6,box). volume(crate6,1). density(crate6,1.0).
type(crate7,box). volume(crate7,10). density(crate7,1.5).
type(crate8,box). volume(crate8,1). density(crate8,2.5).
type(crate9,box). volume(crate9,1). density(crate9,0.2).
type(crate10,box). volume(crate10,4). density(crate10,1.0).
type(crate11,box). volume(crate11,10). density(crate11,0.5).
type(crate12,box). volume(crate12,4). density(crate12,1.0).
type(crate13,box). volume(crate13,5). density(crate13,0.8).
type(crate14,box). volume(crate14,2). density(crate14,0.8).
type(crate15,box). volume(crate15,8). density(crate15,1.0).
type(crate16,box). volume(crate16,5). density(crate16,0.5).
type(crate17,box). volume(crate17,5). density(crate17,0.2).
type(crate18,box). volume(crate18,2). density(crate18,0.8).
type(crate19,box). volume(crate19,5). density(crate19,0.8).
type(crate20,box). volume(crate20,1). density(crate20,2.5).
type(crate21,box). volume(crate21,4). density(crate21,0.4).
type(crate22,box). volume(crate22,10). density(crate22,0.8).
type(crate23,box). volume(crate23,8). density(crate23,0.2).
type(crate24,box). volume(crate24,5). density(crate24,0.5).
