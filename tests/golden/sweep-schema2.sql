PRAGMA application_id = 2003134068;
PRAGMA user_version = 2;
CREATE TABLE meta(key TEXT PRIMARY KEY, value);
INSERT INTO meta VALUES
('kind','sweep'),
('what','random shape=2x2 warmup=0us measure=1us');
CREATE TABLE point(id INTEGER PRIMARY KEY, name TEXT UNIQUE, grp TEXT, curve TEXT, x TEXT, seed TEXT, ending INTEGER, error TEXT, digest TEXT, wall_s REAL);
INSERT INTO point VALUES
(1,'torus load=0.1 seed=1','torus load=0.1','torus','0.1','1',0,'','dd81f8605b120087',1.69809420003730338066e-02),
(2,'torus load=0.2 seed=1','torus load=0.2','torus','0.2','1',0,'','2b19e7c9053980f9',9.88047899954835884273e-03);
CREATE TABLE value(point INTEGER, name TEXT, value REAL);
INSERT INTO value VALUES
(1,'throughput_GBps_per_node',2.816),
(1,'fraction_of_peak',8.33066666726022669875e-02),
(1,'hops_per_packet',1.2),
(1,'peak_GBps_per_node',33.802816899),
(1,'offered_GBps_per_node',3.380281689),
(1,'latency_mean_ns',156.65),
(1,'latency_p50_ns',135.167),
(1,'latency_p99_ns',245.768),
(1,'latency_max_ns',245.768),
(1,'warmup_ns',0.0),
(1,'measured_ns',1000.0),
(1,'packet_time_ns',46.08),
(1,'confidence_95_half_width_pct',42.794),
(1,'sim_time_ns',1020.0),
(2,'throughput_GBps_per_node',5.504),
(2,'fraction_of_peak',1.62826666678268061616e-01),
(2,'hops_per_packet',1.21739130434782616418e+00),
(2,'peak_GBps_per_node',33.802816899),
(2,'offered_GBps_per_node',6.760563379),
(2,'latency_mean_ns',174.261),
(2,'latency_p50_ns',143.359),
(2,'latency_p99_ns',286.563),
(2,'latency_max_ns',286.563),
(2,'warmup_ns',0.0),
(2,'measured_ns',1000.0),
(2,'packet_time_ns',46.08),
(2,'confidence_95_half_width_pct',36.8232),
(2,'sim_time_ns',1020.0);
CREATE INDEX value_point ON value(point);
CREATE INDEX point_group ON point(grp);
