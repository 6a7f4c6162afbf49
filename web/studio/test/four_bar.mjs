// A four-bar, as MJCF: the end of the coupler is tied to that of the rocker.
export const fourBar = `<mujoco model="four-bar"><worldbody>
<body name="crank"><joint name="drive" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.15"/>
<body name="coupler" pos="0 0 0.15"><joint name="bend" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0.4 0 0"/></body></body>
<body name="rocker" pos="0.4 0 -0.1"><joint name="swing" axis="0 1 0"/><geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.25"/></body>
</worldbody><equality><connect body1="coupler" body2="rocker" anchor="0.4 0 0"/></equality></mujoco>`;
